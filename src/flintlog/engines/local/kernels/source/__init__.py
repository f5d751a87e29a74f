"""What is compiled to machine code. Only the compiler imports this room: a run loads the code alone."""
