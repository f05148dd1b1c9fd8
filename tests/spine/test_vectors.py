"""Every registered method has a vector: a figure or table of its paper, noise off."""

from __future__ import annotations

import json

import pytest
from project import VECTORS

from hedgerow import METHODS, Domain, PureDP, Sequences, Sets, find_method
from hedgerow.privacy import NoiseOff
from hedgerow.publishers.base import publish_with

KINDS = {"sets": Sets, "sequences": Sequences}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_has_a_vector(name):
    assert json.loads((VECTORS / f"{name}.json").read_text())["paper"]


@pytest.mark.parametrize("name", [name for name in METHODS if PureDP in find_method(name).keeps])
def test_a_vector_without_noise(name):
    vector = json.loads((VECTORS / f"{name}.json").read_text())
    held = vector["noise off"]
    assert held["how"]
    method = find_method(name)(**held["parameters"])
    domain = Domain.declare(item=held["items"])
    data = KINDS[method.kinds[0].kind].from_records(held["records"], domain=domain)
    release = publish_with(method, data, PureDP(epsilon=held["epsilon"], unit=method.units[0]), NoiseOff())
    assert release.data.named() == [(tuple(items), count) for items, count in held["published"]]
