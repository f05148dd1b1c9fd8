"""flat-laplace on MSNBC as sets: publishing time as a ratio to the floor."""

from __future__ import annotations

from floor import best, data_folder, floor, read_numbers

from hedgerow import Domain, FlatLaplace, PureDP, Sets


def main() -> None:
    """Print absolute times, and their ratio to the floor."""
    path = data_folder() / "msnbc" / "msnbc990928.seq.gz"
    domain = Domain.declare(item=range(1, 18))
    promise = PureDP(epsilon=1, unit="record")
    least, _ = best(lambda: floor(path), 3)
    line, number = read_numbers(path)
    encoding, data = best(lambda: Sets.from_columns(row=line, item=number - 1, domain=domain), 3)
    publishing, release = best(lambda: FlatLaplace().publish(data, promise), 3)
    print(f"floor (gunzip, parse, sort)      {least:6.2f} s")
    print(f"encode {len(data):,} records   {encoding:6.2f} s  {encoding / least:5.2f} x floor")
    print(f"publish, epsilon 1               {publishing:6.2f} s  {publishing / least:5.2f} x floor")
    print(f"published {len(release.data.itemsets()):,} itemsets of {2**17 - 1:,} possible ones")


if __name__ == "__main__":
    main()
