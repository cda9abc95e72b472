/// Classes that inherit from one that is Sendable without being checked: each has to say so again.
extension PortedFile {
    /// Strata's classes that programs subclass and that threads share by Core Data's rules.
    static let sharedClasses: Set<String> = [
        "NSAtomicStore", "NSIncrementalStore", "NSManagedObjectContext", "NSMergePolicy", "NSMigrationManager",
        "NSPersistentContainer", "NSPersistentStore", "NSPersistentStoreCoordinator",
        "NSSecureUnarchiveFromDataTransformer", "ThreeWayMergePolicy", "ValueTransformer",
    ]

    /// Says that a class is Sendable, as its superclass says.
    mutating func restateSendable(_ node: SyntaxNode, _ range: (start: Int, end: Int)) {
        guard declarations.isShared(node.name), !declarations.statesSendable(node.name),
            let superclass = Self.superclass(of: node, in: source)
        else { return }
        edits.insert(", @unchecked Sendable", at: superclass.end)
        report(change: range.start, "\(node.name) is @unchecked Sendable, as \(superclass.name) is")
    }

    /// What stands first behind the colon of a class, and where it ends.
    static func superclass(of node: SyntaxNode, in source: SourceText) -> (name: String, end: Int)? {
        guard node.kind == "class_decl", let start = node.range?.start, source.starts("class", at: start) else {
            return nil
        }
        let name = source.nextToken(source.endOfToken(start))
        let colon = source.nextToken(source.endOfToken(name))
        guard source.starts(":", at: colon) else { return nil }
        let type = source.type(at: colon + 1)
        return (type.text.split(separator: ".").last.map { String($0) } ?? "", type.end)
    }
}
