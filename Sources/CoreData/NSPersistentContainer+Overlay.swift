public import Strata

// A property beside a function of the same name and type: Swift allows it across modules only, as in Apple's framework.
extension NSPersistentContainer {
    /// Where stores lie unless told otherwise, in the new spelling.
    public class var defaultDirectoryURL: URL { defaultDirectoryURL() }
}
