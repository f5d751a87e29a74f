"""How the tasks of a resident stratum talk: they meet at the driver (rendezvous), send each other deltas every round
(mesh), and keep what they hold where a later attempt finds it (snapshots). Knows nothing of Spark or of Datalog."""
