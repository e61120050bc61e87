"""Moving a model in time: steps, whole runs, what is watched and what changes on the way."""

from multiarm.simulation.actions import Action, HandOver, Hold, Payload, Release, Steer, Stop
from multiarm.simulation.batch import simulate_batch
from multiarm.simulation.running import simulate
from multiarm.simulation.simulation import Simulation
from multiarm.simulation.variants import holding, with_payload
from multiarm.simulation.watching import Watch, near_singularity

__all__ = [
    "Action",
    "HandOver",
    "Hold",
    "Payload",
    "Release",
    "Simulation",
    "Steer",
    "Stop",
    "Watch",
    "holding",
    "near_singularity",
    "simulate",
    "simulate_batch",
    "with_payload",
]
