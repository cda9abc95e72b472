extension S3Configuration {
    /// Reads `s3://bucket/prefix?endpoint=…&region=…&style=path|virtual|auto&ca=…&profile=…`.
    ///
    /// What the address does not say comes from the environment: `AWS_ENDPOINT_URL_S3` or `AWS_ENDPOINT_URL`,
    /// `AWS_REGION` or `AWS_DEFAULT_REGION`, `AWS_CA_BUNDLE`; then region and `endpoint_url` from the profile in AWS's
    /// shared files. Values are percent-encoded as in any URL.
    ///
    /// - Throws: For an address of another kind, an unknown parameter, or one that is given twice.
    public init(
        url: String, environment: [String: String] = ProcessEnvironment.variables
    ) throws(S3ConfigurationError) {
        let address = try S3Address(url)
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        var endpoint = address["endpoint"] ?? variable("AWS_ENDPOINT_URL_S3") ?? variable("AWS_ENDPOINT_URL")
        var region = address["region"] ?? variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION")
        if region == nil || endpoint == nil {
            let settings = AWSFiles(profile: address["profile"], environment: environment).settings() ?? [:]
            region = region ?? settings["region"]
            endpoint = endpoint ?? settings["endpoint_url"]
        }
        let style = address["style"] ?? AddressingStyle.automatic.rawValue
        guard let style = AddressingStyle(rawValue: style) else {
            throw S3ConfigurationError("\(address.place): style=\(style) is none of path, virtual and auto")
        }
        self.init(
            bucket: address.bucket, prefix: address.prefix, region: region ?? "us-east-1", endpoint: endpoint,
            style: style, certificateAuthorities: address["ca"] ?? variable("AWS_CA_BUNDLE"))
    }
}
