// A target needs a source of its own. The others are compiled as they are, by the plugin PortedSources.
