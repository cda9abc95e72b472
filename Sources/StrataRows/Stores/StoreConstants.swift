// Types of stores and keys of their metadata.

/// Names the log store here: nearly all existing code passes it, and it is what such code wants.
public let NSSQLiteStoreType: String = "SQLite"

/// A store in one XML file.
public let NSXMLStoreType: String = "XML"

/// A store in one binary file.
public let NSBinaryStoreType: String = "Binary"

/// A store in memory, gone with its coordinator.
public let NSInMemoryStoreType: String = "InMemory"

/// The type of a store, in its metadata.
public let NSStoreTypeKey: String = "NSStoreType"

/// The UUID of a store, in its metadata.
public let NSStoreUUIDKey: String = "NSStoreUUID"

/// The version identifiers of the model, in the metadata of a store.
public let NSStoreModelVersionIdentifiersKey: String = "NSStoreModelVersionIdentifiers"

/// The oldest system that can read a store, in its metadata.
public let NSPersistentStoreOSCompatibility: String = "NSPersistentStoreOSCompatibility"

/// The checksum of the model, in the metadata of a store.
public let NSPersistentStoreModelVersionChecksumKey: String = "NSStoreModelVersionChecksumKey"
