"""Work spread over processes or a Ray cluster, with the same results for any number of workers."""

from empathylab.compute.actors import Actors
from empathylab.compute.engines import choose, chosen, map_ordered, random_stream
from empathylab.compute.threads import one_thread

__all__ = ["Actors", "choose", "chosen", "map_ordered", "one_thread", "random_stream"]
