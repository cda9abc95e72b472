import CoreData

/// A package of the distribution, or a virtual one: a name that other packages provide.
final class Package: NSManagedObject {
    private static let nameSlot = AttributeSlot<String>("name")
    private static let isVirtualSlot = AttributeSlot<Bool>("isVirtual")
    private static let versionSlot = AttributeSlot<String?>("version")
    private static let architectureSlot = AttributeSlot<String?>("architecture")
    private static let prioritySlot = AttributeSlot<String?>("priority")
    private static let sourceSlot = AttributeSlot<String?>("source")
    private static let homepageSlot = AttributeSlot<String?>("homepage")
    private static let summarySlot = AttributeSlot<String?>("summary")
    private static let fileNameSlot = AttributeSlot<String?>("fileName")
    private static let installedSizeSlot = AttributeSlot<Int64>("installedSizeKiB")
    private static let downloadSizeSlot = AttributeSlot<Int64>("downloadSizeBytes")
    private static let isEssentialSlot = AttributeSlot<Bool>("isEssential")
    private static let maintainerSlot = ToOneSlot<Maintainer>("maintainer")
    private static let sectionSlot = ToOneSlot<Section>("section")
    private static let dependenciesSlot = ToManySlot<Dependency>("dependencies")
    private static let dependentsSlot = ToManySlot<Dependency>("dependents")

    var name: String {
        get { self[Self.nameSlot] }
        set { self[Self.nameSlot] = newValue }
    }

    /// Whether there is no package of this name, only others that provide it.
    var isVirtual: Bool {
        get { self[Self.isVirtualSlot] }
        set { self[Self.isVirtualSlot] = newValue }
    }

    var version: String? {
        get { self[Self.versionSlot] }
        set { self[Self.versionSlot] = newValue }
    }

    var architecture: String? {
        get { self[Self.architectureSlot] }
        set { self[Self.architectureSlot] = newValue }
    }

    var priority: String? {
        get { self[Self.prioritySlot] }
        set { self[Self.prioritySlot] = newValue }
    }

    /// The source package, nil when it has the same name.
    var source: String? {
        get { self[Self.sourceSlot] }
        set { self[Self.sourceSlot] = newValue }
    }

    var homepage: String? {
        get { self[Self.homepageSlot] }
        set { self[Self.homepageSlot] = newValue }
    }

    var summary: String? {
        get { self[Self.summarySlot] }
        set { self[Self.summarySlot] = newValue }
    }

    /// Where the package file lies in its archive.
    var fileName: String? {
        get { self[Self.fileNameSlot] }
        set { self[Self.fileNameSlot] = newValue }
    }

    var installedSizeKiB: Int64 {
        get { self[Self.installedSizeSlot] }
        set { self[Self.installedSizeSlot] = newValue }
    }

    var downloadSizeBytes: Int64 {
        get { self[Self.downloadSizeSlot] }
        set { self[Self.downloadSizeSlot] = newValue }
    }

    var isEssential: Bool {
        get { self[Self.isEssentialSlot] }
        set { self[Self.isEssentialSlot] = newValue }
    }

    var maintainer: Maintainer? {
        get { self[Self.maintainerSlot] }
        set { self[Self.maintainerSlot] = newValue }
    }

    var section: Section? {
        get { self[Self.sectionSlot] }
        set { self[Self.sectionSlot] = newValue }
    }

    /// What this package declares about others. Inverse of `Dependency.package`.
    var dependencies: Set<Dependency> {
        get { self[Self.dependenciesSlot] }
        set { self[Self.dependenciesSlot] = newValue }
    }

    /// What others declare about this package. Inverse of `Dependency.target`.
    var dependents: Set<Dependency> {
        get { self[Self.dependentsSlot] }
        set { self[Self.dependentsSlot] = newValue }
    }
}
