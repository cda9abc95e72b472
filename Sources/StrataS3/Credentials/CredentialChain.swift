public import StrataObjectStore

/// Asks one provider after the other for credentials, until one has some.
public struct CredentialChain: S3CredentialProvider {
    private let providers: [any S3CredentialProvider]

    /// Asks these, in their order.
    public init(_ providers: [any S3CredentialProvider]) {
        self.providers = providers
    }

    /// What AWS's tools do: environment, web identity, shared files, container, instance.
    ///
    /// - Parameter profile: Asks the shared files for this profile, and nobody else.
    public static func standard(
        profile: String? = nil, environment: [String: String] = ProcessEnvironment.variables
    ) -> CredentialChain {
        if let profile { return CredentialChain([ProfileCredentials(profile: profile, environment: environment)]) }
        return CredentialChain([
            EnvironmentCredentials(environment: environment), WebIdentityCredentials(environment: environment),
            ProfileCredentials(environment: environment), ContainerCredentials(environment: environment),
            InstanceCredentials(environment: environment),
        ])
    }

    public func credentials(over connections: S3Connections) async throws(ObjectStoreError) -> S3Credentials? {
        for provider in providers {
            if let found = try await provider.credentials(over: connections) { return found }
        }
        return nil
    }
}
