"""A Slurm cluster of one node on this machine, for as long as a test needs it: munged, slurmctld and slurmd by hand."""

import contextlib
import os
import platform
import secrets
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "scancel")
CONTROLLER, NODE = 16817, 16818
"""Ports."""
CONFIGURATION = """\
ClusterName=test
SlurmctldHost={host}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.sock
SlurmctldPort={controller}
SlurmdPort={node}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=2,batch_sched_delay=0
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
MailProg=/bin/true
NodeName={host} CPUs=4 State=UNKNOWN
PartitionName=here Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> str:
    """Why there can be no cluster here, and what to do about it; else nothing."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin") is None]
    if absent:
        return f"{', '.join(absent)} not installed: apt-get install slurm-wlm munge brings them to Debian"
    return "" if hasattr(os, "geteuid") and os.geteuid() == 0 else "slurmd has to be started by root"


@contextlib.contextmanager
def cluster(folder: Path) -> Iterator[dict[str, str]]:
    """Start a cluster whose files lie in a folder; gives the environment in which sbatch finds it."""
    (folder / "state").mkdir(parents=True)
    (folder / "spool").mkdir()
    (folder / "munge.key").touch(mode=0o400)
    os.chmod(folder, 0o755)  # munged trusts no folder that others may write
    (folder / "munge.key").write_bytes(secrets.token_bytes(1024))
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(host=platform.node(), folder=folder, controller=CONTROLLER, node=NODE)
    )
    environment = {**os.environ, "SLURM_CONF": str(configuration), "PATH": f"{os.environ['PATH']}:/usr/sbin"}
    names = {"key-file": "key", "socket": "sock", "pid-file": "pid", "log-file": "log", "seed-file": "seed"}
    munged = ["munged", "--force", "--foreground", *(f"--{name}={folder}/munge.{end}" for name, end in names.items())]
    with contextlib.ExitStack() as running:
        for command in (munged, ["slurmctld", "-D"], ["slurmd", "-D"]):
            log = running.enter_context((folder / f"{command[0]}.out").open("w"))
            process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            running.callback(process.wait)
            running.callback(process.terminate)
            if command is munged:
                wait_for((folder / "munge.sock").exists)
        wait_for(lambda: "idle" in told(environment, "sinfo", "--noheader", "--format=%T"))
        yield environment


def told(environment: dict[str, str], *command: str) -> str:
    """What a command of Slurm prints."""
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout


def wait_for(condition, seconds: float = 60.0) -> None:
    """Wait until something is true; raises `TimeoutError` where it does not become so."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError("it did not happen")
        time.sleep(0.1)
