"""Values that a stranger may write into `release.json`, and texts that a terminal would obey."""

from __future__ import annotations

#: stands in the private data and in no message
CELL = "Zx7qSECRETq7xZ"
ESCAPES = "\x1b[2K\x1b]0;x\x07\u202esatisfied\u2066\x85\x9b31m\r\nyes  all is well\n\nsatisfied"
HOSTILE = [
    *(None, True, False, 0, 1, -1, 2**31, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30, 1e308, -0.0),
    *("", "0", "1", "-1", "nan", "inf", "1e99", "1e-9", "1e9", "1/3", "9" * 400, "9" * 5_000),
    *(ESCAPES, "\0", "\ud800", "\U0010ffff", "\u202e", "<script>", "../../etc/passwd", "é" * 500),
    *("x" * 100_000, "person", "trajectory", "sequence", "record", "parquet", "csv", "lines"),
    *("sets", "sequences", "trajectories", "graphs", "ngrams", "KCL", "PureDP", "CorrelatedDP", "All", "0.0.9", "99"),
    *([], {}, [[]], [None], {"": None}, ["a"] * 5_000, list(range(3_000)), {"k": {"k": {"k": 1}}}),
    {"low": 0, "high": 10**7},
    {"low": -(2**70), "high": 2**70},
    {"low": 0, "high": 190_000},
    {"low": 1, "high": 0},
    {"low": 0, "high": 999_998, "paths": [[]]},
    {"values": [1, "a"]},
    {"values": ["a"], "paths": [["x"] * 5_000]},
    {"most_bytes": "9" * 15},
    {"bin": "1h", "grid": "0.000000001"},
    {"sensitive": ESCAPES},
    {"l_max": 10**9},
    {"height": "tall", "l_max": -1},
    {"k_prime": 10**12},
    {"l_max": 1e308, "k_prime": 0.5},
]

#: values of the right type and the wrong size, by where they stand
STRANGE = {
    "guarantee.epsilon": ["0.000000001", "1000000000", "1/3", "7" * 300 + "/" + "9" * 300, "50%"],
    "guarantee.unit": ["record", "sequence", "trajectory", "edge", "person"],
    "guarantee.k": ["1", "99999", str(2**63), str(2**64), "9" * 900, "9" * 4_400],
    "guarantee.l": ["1", "6", "40", str(2**63), "9" * 900],
    "guarantee.c": ["0", "1", "1/999999999999999999999", "0." + "3" * 300],
    "guarantee.sensitive": [
        *([["ill", "flu"]], [["ill", "x"]], [["time", "1"]], [["none", "1"]], [], ["ill"], ["=="], [["ill"]]),
        *([["ill", ["flu"]]], [[["ill"], "flu"]], {"ill": "flu"}, "ill=flu", ["ill=flu", ["ill", "x"]]),
        [["ill", str(n)] for n in range(3_000)],
        [["ill", str(n)] for n in range(60_000)],
        [["ill", ESCAPES]],
        [[ESCAPES, "flu"]],
    ],
    "guarantee": [
        {"name": "All", "parts": parts}
        for parts in (
            [{"name": "PureDP", "epsilon": "3", "unit": "record"}],
            [{"name": "PureDP", "epsilon": "3", "unit": "record"}] * 2,
            [{"name": "KCL", "k": "2", "l": str(n)} for n in range(1, 17)],
            [{"name": "KCL", "k": str(n), "l": "2"} for n in range(1, 2_000)],
            [{"name": "PureDP", "epsilon": "3", "unit": "trajectory"}, {"name": "KCL", "k": "1", "l": "2"}],
            [{"name": "All", "parts": [{"name": "KCL", "k": "1", "l": "2"}]}],
            [{"name": ESCAPES}],
            [ESCAPES, {}, [], None],
            {"name": "KCL"},
        )
    ],
    "domain.records_per_person": [1, 7, 10**6, 10**18, 2**63],
    "domain.source": ["declared", "asserted public", "inferred from the data"],
    "domain.axes": [None],
    "domain.axes.item": [
        {"low": 0, "high": 999_999},
        {"low": 0, "high": 190_000},
        {"values": [ESCAPES, "i1"]},
        {"values": ["x" * 10**6, "i1"]},
        {"values": [f"i{n}" for n in range(50_000)]},
        {"values": [f"i{n}" for n in range(99)], "paths": [[str(n)] * n for n in range(99)]},
    ],
    "domain.axes.vertex": [
        {"low": 0, "high": 199_998},
        {"low": 0, "high": 1_999_999},
        {"low": 0, "high": 0},
        {"values": [ESCAPES, *(f"v{n}" for n in range(30))]},
        {"values": [f"v{n}" for n in range(90_000)]},
    ],
    "domain.axes.time": [{"low": 0, "high": 9_999}, {"low": 0, "high": 900_000}, {"low": 0, "high": 5, "paths": []}],
    "domain.axes.place": [{"values": [f"p{n}" for n in range(9_000)]}],
    "parameters": [{}, {ESCAPES: ESCAPES}, {f"p{n}": n for n in range(9_000)}],
    "parameters.l_max": [0, -1, 10**6, 2**62, "many", 3.7, 1e308, True],
    "parameters.height": [0, -1, 10**6, 2**62, "tall", 3.7, 1e308],
    "parameters.k_prime": [-5, 1, 10**12, 2**62, "x", 0.5, 1e308],
    "method": ["kcl", "ngram", "diffpart", "none", "", ESCAPES, "x" * 10**5],
    "kind": ["sets", "sequences", "trajectories", "graphs"],
    "notes": [{ESCAPES: 1}, {"n": 2**62}, {f"n{n}": n for n in range(5_000)}],
    "questions": [
        [{"label": "x", "share": "1000000000000", "asked": [], "mechanisms": []}],
        [{"label": ESCAPES, "share": "1/7", "asked": [ESCAPES], "mechanisms": [ESCAPES]}],
        [{"label": f"q{n}", "share": f"1/{n + 1}", "asked": [], "mechanisms": []} for n in range(500)],
    ],
    "for_publication": [False],
    "verification.how": [ESCAPES],
    "schema": [0, 1, 3, -1, 9_999, 2**40, 2**62, True, "2", 2.0],
    "hedgerow": ["0.0.9", "1.0", ESCAPES, "v1", "0.1.0+x"],
}  # fmt: skip
