/// How the tests were built.
public enum BuildMode {
    /// Whether without optimisation: random tests do less then.
    public static let isDebug = {
        var isDebug = false
        assert(
            {
                isDebug = true
                return true
            }())
        return isDebug
    }()
}
