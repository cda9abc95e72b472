// Options and keys that Apple has given up. They are here so that code that mentions them compiles; they do nothing.

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "External records are not supported.")
public let NSXMLExternalRecordType: String = "NSXMLExternalRecordType"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "External records are not supported.")
public let NSBinaryExternalRecordType: String = "NSBinaryExternalRecordType"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "External records are not supported.")
public let NSExternalRecordsFileFormatOption: String = "NSExternalRecordsFileFormatOption"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "External records are not supported.")
public let NSExternalRecordsDirectoryOption: String = "NSExternalRecordsDirectoryOption"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "External records are not supported.")
public let NSExternalRecordExtensionOption: String = "NSExternalRecordExtensionOption"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "External records are not supported.")
public let NSEntityNameInPathKey: String = "NSEntityNameInPathKey"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "External records are not supported.")
public let NSStoreUUIDInPathKey: String = "NSStoreUUIDInPathKey"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "External records are not supported.")
public let NSStorePathKey: String = "NSStorePathKey"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "External records are not supported.")
public let NSModelPathKey: String = "NSModelPathKey"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "External records are not supported.")
public let NSObjectURIKey: String = "NSObjectURIKey"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreUbiquitousContentNameKey: String = "NSPersistentStoreUbiquitousContentNameKey"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreUbiquitousContentURLKey: String = "NSPersistentStoreUbiquitousContentURLKey"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreUbiquitousTransitionTypeKey: String = "NSPersistentStoreUbiquitousTransitionTypeKey"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreUbiquitousPeerTokenOption: String = "NSPersistentStoreUbiquitousPeerTokenOption"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreRemoveUbiquitousMetadataOption: String = "NSPersistentStoreRemoveUbiquitousMetadataOption"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreUbiquitousContainerIdentifierKey: String =
    "NSPersistentStoreUbiquitousContainerIdentifierKey"

/// Kept so that code that mentions it compiles; nothing reads it.
@available(*, deprecated, message: "Ubiquitous stores are not supported.")
public let NSPersistentStoreRebuildFromUbiquitousContentOption: String =
    "NSPersistentStoreRebuildFromUbiquitousContentOption"
