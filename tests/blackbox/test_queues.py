# SPDX-License-Identifier: BSD-3-Clause
"""Several receive queues on an underlay port: do the fragments of one datagram meet?"""
import pytest

from vtep import Vtep

TWO_WORKERS = "0@0,1@0,2@0"


class NullPort:
    """net_null without a frame: as many queues as are asked for, and no word on how it fills them."""
    name = None

    def open(self, index, _space):
        self.name = f"net_null{index}"
        return self.name + ",no-rx=1"

    def close(self):
        pass


@pytest.mark.parametrize("options,lcores,queues,scattered", [
    ((), TWO_WORKERS, 2, True),
    (("--rxq", "1"), TWO_WORKERS, 1, False),
    (("--rxq", "2"), "0@0,1@0", 2, False),
])
def test_show_worker_names_a_port_that_scatters(options, lcores, queues, scattered):
    ports = {"U": NullPort(), "A": NullPort()}
    with Vtep(ports, lcores=lcores, options=options) as vtep:
        text = vtep.cli("show worker")
        assert ("port 0 (net_null0): fragments of one datagram may reach several workers" in
                text) == scattered, text
        # reassembly is the underlay's matter only
        assert "net_null1" not in text
        info = vtep.cli("show port info 0")
        assert ("RSS " in info) == (queues > 1)
        assert ("not promised" in info) == scattered, info
        assert "fragments " not in vtep.cli("show port info 1")
