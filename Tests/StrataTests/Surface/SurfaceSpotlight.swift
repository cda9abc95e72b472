import CoreData

/// Names every symbol of the group "spotlight" with its signature, so that none can vanish. Never run.
enum SurfaceSpotlight {
    static func nsNotificationMemberName() {
        _ = { () -> NSNotification.Name in NSNotification.Name.NSCoreDataCoreSpotlightDelegateIndexDidUpdate }
    }
}
