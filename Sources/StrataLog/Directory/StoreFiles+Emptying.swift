internal import StrataIO
internal import StrataSupport
internal import SystemPackage

extension StoreFiles {
    /// Makes the directory count as one without a store.
    func makeVoid() throws(StoreError) {
        try io("create", void) { () throws(Errno) in try open(void, .createIfMissing).close() }
    }

    /// Removes all files of the store from the directory. From its first step on it holds no store for anybody. The
    /// lock in the directory is held.
    func empty() throws(StoreError) {
        let isSimple = try io("look at", manifest) { () throws(Errno) in
            let (void, manifest) = (try attributes(void), try attributes(manifest))
            return void == nil && manifest?.kind == .regular
        }
        if isSimple {
            // Takes no space.
            try io("rename", manifest) { () throws(Errno) in try rename(manifest, to: void) }
        } else {
            try makeVoid()
        }
        try io("flush directory", directory) { () throws(Errno) in try sync() }
        try removeAll { $0 != "STRATA-VOID" && $0 != "LOCK" }
        // Its absence must not become durable before that of the others.
        try removeAll { $0 == "STRATA-VOID" }
        // Last: whoever makes a store here anew has to wait until the rest is done.
        try removeAll { $0 == "LOCK" }
    }

    /// Removes those regular files with names of a store's that the condition lets through.
    func removeAll(where isMeant: (String) -> Bool) throws(StoreError) {
        try io("remove files of", directory) { () throws(Errno) in
            let names = if let held { try held.directory.list() } else { try fileSystem.list(directory) }
            for name in names where Self.isOwn(name) && isMeant(name) { try remove(directory.appending(name)) }
            try sync()
        }
    }
}
