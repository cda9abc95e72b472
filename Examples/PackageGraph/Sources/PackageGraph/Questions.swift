import CoreData
import DebianIndex

/// What one can ask the graph. Everything goes through fetches and relationships, on the context's queue.
struct Questions {
    /// A package and how many others need it.
    struct Needed {
        let package: Package
        let count: Int
    }

    /// A maintainer and what they look after.
    struct Load {
        let maintainer: Maintainer
        let packageCount: Int
        let installedSizeKiB: Int64
    }

    let context: NSManagedObjectContext

    /// The package of a name, nil when there is none.
    func package(named name: String) throws -> Package? {
        let request = NSFetchRequest<Package>(entityName: "Package")
        request.predicate = NSPredicate(format: "name == %@", name)
        request.fetchLimit = 1
        return try context.fetch(request).first
    }

    /// The packages that the most others name in Depends or Pre-Depends, each of those counted once.
    func mostNeeded(limit: Int) throws -> [Needed] {
        let request = NSFetchRequest<Dependency>(entityName: "Dependency")
        request.predicate = NSPredicate(format: "kindValue <= %d", Int(DependencyKind.depends.rawValue))
        // A package may name another more than once, with two versions for instance.
        var dependents: [Package: Set<Package>] = [:]
        for dependency in try context.fetch(request) {
            guard let target = dependency.target, let owner = dependency.package else { continue }
            dependents[target, default: []].insert(owner)
        }
        return dependents.map { Needed(package: $0.key, count: $0.value.count) }
            .sorted { ($1.count, $0.package.name) < ($0.count, $1.package.name) }
            .prefix(limit).map { $0 }
    }

    /// The package and everything it needs to run, and what that needs, in the order found.
    ///
    /// Of each group of alternatives the first that exists is taken, of a virtual package the first provider by name.
    func installationSet(of root: Package) -> [Package] {
        var found = [root]
        var seen: Set<Package> = [root]
        var next = 0
        while next < found.count {
            for needed in requirements(of: found[next]) where seen.insert(needed).inserted { found.append(needed) }
            next += 1
        }
        return found
    }

    private func requirements(of package: Package) -> [Package] {
        var required: [Package] = []
        let needs = package.dependencies.filter { $0.kindValue <= DependencyKind.depends.rawValue }
            .sorted { ($0.kindValue, $0.group, $0.alternative) < ($1.kindValue, $1.group, $1.alternative) }
        var satisfied: (kind: Int16, group: Int32)?
        for need in needs {
            if let satisfied, satisfied == (need.kindValue, need.group) { continue }
            guard let target = need.target, let choice = real(target) else { continue }
            satisfied = (need.kindValue, need.group)
            required.append(choice)
        }
        return required
    }

    private func real(_ package: Package) -> Package? {
        guard package.isVirtual else { return package }
        return package.dependents.filter { $0.kind == .provides }.compactMap(\.package).min { $0.name < $1.name }
    }

    /// The maintainers with the most packages.
    func busiestMaintainers(limit: Int) throws -> [Load] {
        try loads().sorted { ($1.packageCount, $0.maintainer.name) < ($0.packageCount, $1.maintainer.name) }
            .prefix(limit).map { $0 }
    }

    /// The maintainers whose packages take the most space installed.
    func heaviestMaintainers(limit: Int) throws -> [Load] {
        try loads().sorted { ($1.installedSizeKiB, $0.maintainer.name) < ($0.installedSizeKiB, $1.maintainer.name) }
            .prefix(limit).map { $0 }
    }

    private func loads() throws -> [Load] {
        try context.fetch(NSFetchRequest<Maintainer>(entityName: "Maintainer")).map { maintainer in
            let packages = maintainer.packages
            return Load(
                maintainer: maintainer, packageCount: packages.count,
                installedSizeKiB: packages.reduce(0) { $0 + $1.installedSizeKiB })
        }
    }

    /// How many objects of each entity the store has.
    func counts() throws -> [String: Int] {
        var counts: [String: Int] = [:]
        for name in PackageGraphModel.entityNames {
            counts[name] = try context.count(for: NSFetchRequest<NSManagedObject>(entityName: name))
        }
        return counts
    }
}
