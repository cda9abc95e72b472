public import Foundation

// On Linux these give references, where Apple's Foundation gives values. A call that takes either gets a value.
extension Bundle {
    /// The URLs of all resources with an extension; nil if they cannot be looked up.
    public func urls(forResourcesWithExtension ext: String, subdirectory subpath: String?) -> [URL]? {
        let urls: [NSURL]? = urls(forResourcesWithExtension: ext as String?, subdirectory: subpath)
        return urls?.map { $0 as URL }
    }

    /// As ``urls(forResourcesWithExtension:subdirectory:)``, of one localization.
    public func urls(
        forResourcesWithExtension ext: String, subdirectory subpath: String?, localization localizationName: String?
    ) -> [URL]? {
        let urls: [NSURL]? = urls(
            forResourcesWithExtension: ext as String?, subdirectory: subpath, localization: localizationName)
        return urls?.map { $0 as URL }
    }

    /// As ``urls(forResourcesWithExtension:subdirectory:)``, in the bundle at a URL.
    public class func urls(
        forResourcesWithExtension ext: String, subdirectory subpath: String?, in bundleURL: URL
    ) -> [URL]? {
        let urls: [NSURL]? = urls(
            forResourcesWithExtension: ext as String?, subdirectory: subpath, in: bundleURL as NSURL)
        return urls?.map { $0 as URL }
    }
}
