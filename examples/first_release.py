"""A first release: a shop publishes what is bought together, not who bought it.

The baskets are made up here, so that no real data is in this file.
"""

from hedgerow import Domain, FlatLaplace, PureDP, Sets

ITEMS = ["bread", "butter", "coffee", "jam", "milk", "nappies", "pregnancy test", "tea", "wine"]
BASKETS = {
    ("bread", "butter", "jam"): 310,
    ("bread", "milk"): 450,
    ("coffee",): 280,
    ("coffee", "milk"): 190,
    ("milk", "nappies"): 160,
    ("tea",): 220,
    ("bread", "wine"): 75,
    ("pregnancy test", "wine"): 1,  # a single basket
}


def main() -> None:
    baskets = [list(basket) for basket, times in BASKETS.items() for _ in range(times)]
    data = Sets.from_records(baskets, domain=Domain.declare(item=ITEMS))
    release = FlatLaplace(threshold=6).publish(data, PureDP(epsilon=1, unit="record"))

    print(release.statement())
    print("published           in the data (for the owner only)")
    truth = dict(data.itemsets())
    for itemset, count in release.data.itemsets():
        print(f"{count:9,}  {truth.get(itemset, 0):7,}  {', '.join(itemset)}")
    missing = [itemset for itemset in truth if itemset not in dict(release.data.itemsets())]
    print(f"\n{len(missing)} of {len(truth)} distinct baskets did not reach the threshold.")


if __name__ == "__main__":
    main()
