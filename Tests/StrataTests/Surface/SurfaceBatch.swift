import CoreData

/// Names every symbol of the group "batch" with its signature, so that none can vanish. Never run.
enum SurfaceBatch {
    static func nsBatchDeleteRequestResultType() {
        _ = NSBatchDeleteRequestResultType.self
        _ = { (value: NSBatchDeleteRequestResultType) -> UInt in value.rawValue }
        _ = { (object: NSBatchDeleteRequestResultType) -> any Sendable in object }
        _ = { (a0: UInt) -> NSBatchDeleteRequestResultType? in NSBatchDeleteRequestResultType(rawValue: a0) }
        _ = { (object: NSBatchDeleteRequestResultType) -> UInt in object.rawValue }
        _ = { () -> NSBatchDeleteRequestResultType in .resultTypeStatusOnly }
        _ = { () -> NSBatchDeleteRequestResultType in .resultTypeObjectIDs }
        _ = { () -> NSBatchDeleteRequestResultType in .resultTypeCount }
    }

    static func nsBatchInsertRequestResultType() {
        _ = NSBatchInsertRequestResultType.self
        _ = { (value: NSBatchInsertRequestResultType) -> UInt in value.rawValue }
        _ = { (object: NSBatchInsertRequestResultType) -> any Sendable in object }
        _ = { (a0: UInt) -> NSBatchInsertRequestResultType? in NSBatchInsertRequestResultType(rawValue: a0) }
        _ = { (object: NSBatchInsertRequestResultType) -> UInt in object.rawValue }
        _ = { () -> NSBatchInsertRequestResultType in .statusOnly }
        _ = { () -> NSBatchInsertRequestResultType in .objectIDs }
        _ = { () -> NSBatchInsertRequestResultType in .count }
    }

    static func nsBatchUpdateRequestResultType() {
        _ = NSBatchUpdateRequestResultType.self
        _ = { (value: NSBatchUpdateRequestResultType) -> UInt in value.rawValue }
        _ = { (object: NSBatchUpdateRequestResultType) -> any Sendable in object }
        _ = { (a0: UInt) -> NSBatchUpdateRequestResultType? in NSBatchUpdateRequestResultType(rawValue: a0) }
        _ = { (object: NSBatchUpdateRequestResultType) -> UInt in object.rawValue }
        _ = { () -> NSBatchUpdateRequestResultType in .statusOnlyResultType }
        _ = { () -> NSBatchUpdateRequestResultType in .updatedObjectIDsResultType }
        _ = { () -> NSBatchUpdateRequestResultType in .updatedObjectsCountResultType }
    }
}
