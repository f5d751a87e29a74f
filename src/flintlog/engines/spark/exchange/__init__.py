"""The network of a resident stratum's tasks: they meet at the driver (rendezvous), send each other deltas every round
(mesh), and write their relations where a later attempt finds them (snapshots). Knows nothing of Spark or of Datalog."""
