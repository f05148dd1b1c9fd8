"""Every registered method has a vector: a figure or table of its paper, noise off."""

from __future__ import annotations

import json

import pytest
from project import VECTORS

from hedgerow import METHODS, PureDP, find_method
from hedgerow.kind_registry import find_kind
from hedgerow.privacy import ExactAnswers
from hedgerow.publisher import publish_with


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_vector(name):
    assert json.loads((VECTORS / f"{name}.json").read_text())["paper"]


@pytest.mark.parametrize("name", [name for name in METHODS if PureDP in find_method(name).keeps])
def test_a_vector_without_noise(name):
    vector = json.loads((VECTORS / f"{name}.json").read_text())
    case = vector["noise off"]
    assert case["how"]
    method = find_method(name)(**case["parameters"])
    cases = find_kind(method.kinds[0]).module("cases")
    promise = PureDP(epsilon=case["epsilon"], unit=method.units[0])
    release = publish_with(method, cases.from_vector(case), promise, ExactAnswers())
    assert cases.to_vector(release.data) == case["published"]
