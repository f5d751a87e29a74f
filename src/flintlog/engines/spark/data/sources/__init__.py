"""Facts from files, tables and the driver, as plain frames. Records that do not fit are reported with their origin."""
