/// What a target can import besides the toolchain's modules.
struct PortedDependencies {
    var modules: Set<String> = []
    /// Whether these are all.
    var areAll = false
}
