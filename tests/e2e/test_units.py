# SPDX-License-Identifier: Apache-2.0
"""The units, as systemd's own checker reads them."""
import shutil
import subprocess

import pytest

import rig


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not installed")
@pytest.mark.parametrize("folder,scope", [("systemd", "--system"), ("systemd/user", "--user")])
def test_units_verify(tmp_path, folder, scope):
    for unit in ("kilnd.service", "kilnd.socket"):
        text = (rig.ROOT / folder / unit).read_text().replace("/usr/bin/kilnd", str(rig.BIN / "kilnd"))
        (tmp_path / unit).write_text(text.replace("User=kiln\nGroup=kiln\n", ""))
    done = subprocess.run(["systemd-analyze", scope, "verify", tmp_path / "kilnd.service", tmp_path / "kilnd.socket"], capture_output=True, text=True,
                          env={"PATH": "/usr/bin:/bin", "XDG_RUNTIME_DIR": str(tmp_path)}, timeout=60)
    ours = [line for line in done.stderr.splitlines() if "kilnd" in line]
    assert not ours, done.stderr
