"""A first release: a shop publishes what is bought together, not who bought it.

The baskets are made up here, by a fixed recipe, so that nobody's data is in this file.
"""

from hedgerow import Domain, FlatLaplace, PureDP, Sets

ITEMS = ["bread", "butter", "coffee", "jam", "milk", "nappies", "pregnancy test", "tea", "wine"]
HABITS = {
    ("bread", "butter", "jam"): 310,
    ("bread", "milk"): 450,
    ("coffee",): 280,
    ("coffee", "milk"): 190,
    ("milk", "nappies"): 160,
    ("tea",): 220,
    ("bread", "wine"): 75,
    ("pregnancy test", "wine"): 1,  # somebody's basket, and nobody else's
}


def main() -> None:
    baskets = [list(habit) for habit, times in HABITS.items() for _ in range(times)]
    data = Sets.from_records(baskets, domain=Domain.declare(item=ITEMS))
    release = FlatLaplace(threshold=6).publish(data, PureDP(epsilon=1, unit="record"))

    print(release.statement())
    print("published           in the data (for the owner only)")
    truth = dict(data.itemsets())
    for itemset, count in release.data.itemsets():
        print(f"{count:9,}  {truth.get(itemset, 0):7,}  {', '.join(itemset)}")
    hidden = [itemset for itemset in truth if itemset not in dict(release.data.itemsets())]
    print(f"\n{len(hidden)} of {len(truth)} kinds of basket did not reach the cutoff.")


if __name__ == "__main__":
    main()
