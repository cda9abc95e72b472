/// Versions of a model that follow one another by what can be inferred.
open class NSLightweightMigrationStage: NSMigrationStage {
    /// The versions' checksums (`NSManagedObjectModel.versionChecksum`), oldest first.
    open var versionChecksums: [String] { checksums }
    private var checksums: [String] = []

    /// A stage over versions, oldest first. Their models are looked for among those of the custom stages, of the
    /// bundles that the program has loaded, and of the store.
    public convenience init(_ versionChecksums: [String]) {
        self.init()
        checksums = versionChecksums
    }
}
