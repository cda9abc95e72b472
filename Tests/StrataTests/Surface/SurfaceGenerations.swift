import CoreData

/// Names every symbol of the group "generations" with its signature, so that none can vanish. Never run.
enum SurfaceGenerations {
    static func global() {
        _ = { () -> String in NSManagedObjectContextQueryGenerationKey }
    }
}
