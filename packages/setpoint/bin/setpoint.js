#!/usr/bin/env node
// Stands in the sources, not in dist/: npm links a command when it installs, and a clone is built afterwards.
import "../dist/bin.js";
