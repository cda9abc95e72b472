import Foundation

/// `distanceToLocation:fromLocation:` for anything with the properties `latitude` and `longitude` in degrees.
enum GreatCircle {
    /// The mean radius of the earth in metres.
    static let earthRadiusMeters = 6_371_008.8

    /// The distance in metres along the surface, `nil` when one of them has no coordinates.
    static func distance(_ first: Any?, _ second: Any?) -> Double? {
        guard let first = coordinates(first), let second = coordinates(second) else { return nil }
        let latitude = sin((second.latitude - first.latitude) / 2)
        let longitude = sin((second.longitude - first.longitude) / 2)
        let square = latitude * latitude + cos(first.latitude) * cos(second.latitude) * longitude * longitude
        return 2 * earthRadiusMeters * asin(min(1, square.squareRoot()))
    }

    private static func coordinates(_ value: Any?) -> (latitude: Double, longitude: Double)? {
        guard let latitude = Arithmetic(KeyValueAccess.value(of: value, forKeyPath: "latitude"))?.doubleValue,
            let longitude = Arithmetic(KeyValueAccess.value(of: value, forKeyPath: "longitude"))?.doubleValue
        else { return nil }
        return (latitude * .pi / 180, longitude * .pi / 180)
    }
}
