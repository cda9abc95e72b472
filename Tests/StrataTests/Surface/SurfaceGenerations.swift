import CoreData

/// Names every symbol of the group "generations" with its signature, so that none can vanish. Never run.
enum SurfaceGenerations {
    static func nsManagedObjectContext() {
        _ = { (object: NSManagedObjectContext) -> NSQueryGenerationToken? in object.queryGenerationToken }
        _ = { (object: NSManagedObjectContext, a0: NSQueryGenerationToken?) throws -> Void in
            try object.setQueryGenerationFrom(a0)
        }
    }

    static func nsQueryGenerationToken() {
        _ = NSQueryGenerationToken.self
        _ = { (object: NSQueryGenerationToken) -> NSObject in object }
        _ = { (object: NSQueryGenerationToken) -> any NSCopying in object }
        _ = { (object: NSQueryGenerationToken) -> any NSSecureCoding in object }
        _ = { () -> NSQueryGenerationToken in NSQueryGenerationToken.current }
    }

    static func global() {
        _ = { () -> String in NSManagedObjectContextQueryGenerationKey }
    }
}
