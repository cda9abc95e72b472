// Options and keys that Apple has given up. They are here so that code that mentions them compiles; they do nothing.

@available(*, deprecated, message: "External records are not supported.")
public let NSXMLExternalRecordType: String = "NSXMLExternalRecordType"

@available(*, deprecated, message: "External records are not supported.")
public let NSBinaryExternalRecordType: String = "NSBinaryExternalRecordType"

@available(*, deprecated, message: "External records are not supported.")
public let NSExternalRecordsFileFormatOption: String = "NSExternalRecordsFileFormatOption"

@available(*, deprecated, message: "External records are not supported.")
public let NSExternalRecordsDirectoryOption: String = "NSExternalRecordsDirectoryOption"

@available(*, deprecated, message: "External records are not supported.")
public let NSExternalRecordExtensionOption: String = "NSExternalRecordExtensionOption"

@available(*, deprecated, message: "External records are not supported.")
public let NSEntityNameInPathKey: String = "NSEntityNameInPathKey"

@available(*, deprecated, message: "External records are not supported.")
public let NSStoreUUIDInPathKey: String = "NSStoreUUIDInPathKey"

@available(*, deprecated, message: "External records are not supported.")
public let NSStorePathKey: String = "NSStorePathKey"

@available(*, deprecated, message: "External records are not supported.")
public let NSModelPathKey: String = "NSModelPathKey"

@available(*, deprecated, message: "External records are not supported.")
public let NSObjectURIKey: String = "NSObjectURIKey"

@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreUbiquitousContentNameKey: String = "NSPersistentStoreUbiquitousContentNameKey"

@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreUbiquitousContentURLKey: String = "NSPersistentStoreUbiquitousContentURLKey"

@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreUbiquitousTransitionTypeKey: String = "NSPersistentStoreUbiquitousTransitionTypeKey"

@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreUbiquitousPeerTokenOption: String = "NSPersistentStoreUbiquitousPeerTokenOption"

@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreRemoveUbiquitousMetadataOption: String = "NSPersistentStoreRemoveUbiquitousMetadataOption"

@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreUbiquitousContainerIdentifierKey: String =
    "NSPersistentStoreUbiquitousContainerIdentifierKey"

@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreRebuildFromUbiquitousContentOption: String =
    "NSPersistentStoreRebuildFromUbiquitousContentOption"
