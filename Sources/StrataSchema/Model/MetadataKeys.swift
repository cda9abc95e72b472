/// The version hashes of the entities, by name, in the metadata of a store: `[String: Data]`.
public let NSStoreModelVersionHashesKey: String = "NSStoreModelVersionHashes"
