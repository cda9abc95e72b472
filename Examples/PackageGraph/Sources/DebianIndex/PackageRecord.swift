/// A package as its index describes it, or a virtual package that others provide.
public struct PackageRecord: Hashable, Sendable {
    /// The name, unique in a ``PackageIndex``.
    public var name: String
    /// Whether no package of this name exists and others provide it. Everything below is empty then.
    public var isVirtual = false
    /// The version in Debian's form.
    public var version = ""
    /// The machine architecture, or `all`.
    public var architecture = ""
    /// How important the package is to the distribution, such as `optional`.
    public var priority: String?
    /// The source package it was built from; nil when that has the same name.
    public var source: String?
    /// The home page of the program packaged.
    public var homepage: String?
    /// The first line of the description.
    public var summary: String?
    /// Where the package file lies in its archive.
    public var fileName: String?
    /// The installed size in KiB, 0 when not stated.
    public var installedSizeKiB: Int64 = 0
    /// The size of the package file in bytes, 0 when not stated.
    public var downloadSizeBytes: Int64 = 0
    /// Whether the system refuses to remove it.
    public var isEssential = false
    /// An index into ``PackageIndex/maintainers``.
    public var maintainer: Int?
    /// An index into ``PackageIndex/sections``.
    public var section: Int?
}
