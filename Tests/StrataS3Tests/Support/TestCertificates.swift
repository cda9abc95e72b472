/// A certificate of localhost, and the authority that signed it: made for these tests, good until 2126, trusted
/// nowhere.
enum TestCertificates {
    static let authority = """
        -----BEGIN CERTIFICATE-----
        MIIBpzCCAU2gAwIBAgIURep8zFBwM/IyURVEYZ5GkI3l/1IwCgYIKoZIzj0EAwIw
        IDEeMBwGA1UEAwwVU3RyYXRhIHRlc3QgYXV0aG9yaXR5MCAXDTI2MTEyOTA0MDk0
        NFoYDzIxMjYxMTA1MDQwOTQ0WjAgMR4wHAYDVQQDDBVTdHJhdGEgdGVzdCBhdXRo
        b3JpdHkwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAR2Ekjp0rv1FKs54S1t2yOJ
        4o/hcmmXQN2XI103bN5ctxyAPA181fzGwXpGHSYQgKPg18dEiR0q5a/qSCDWHwLo
        o2MwYTAdBgNVHQ4EFgQUHaAh17wzd8NT5Pb2EnO1Rjr4VtcwHwYDVR0jBBgwFoAU
        HaAh17wzd8NT5Pb2EnO1Rjr4VtcwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8BAf8E
        BAMCAgQwCgYIKoZIzj0EAwIDSAAwRQIhAO04CVxpFGPK5O4PEASji0e1MxbC6r3C
        GWOxCwfz9peEAiA+c9e3jenn2PTqiWGez6RmUkXYxbOTPL9zIYlK9ojj9g==
        -----END CERTIFICATE-----
        """

    static let server = """
        -----BEGIN CERTIFICATE-----
        MIIBtTCCAVygAwIBAgIUW6t+tR8KCBd9ePAVj6M5BorJj/wwCgYIKoZIzj0EAwIw
        IDEeMBwGA1UEAwwVU3RyYXRhIHRlc3QgYXV0aG9yaXR5MCAXDTI2MTEyOTA0MDk0
        NFoYDzIxMjYxMTA1MDQwOTQ0WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcq
        hkjOPQIBBggqhkjOPQMBBwNCAAS5Wi5sgXG2e4MuVxQlaD7B4E75kjJ4zGGJTnAY
        mU6aENwd3sjpsiH/DidqYpHehg1CMe5+KwEJhkwd3LkUPQB7o34wfDAaBgNVHREE
        EzARgglsb2NhbGhvc3SHBH8AAAEwCQYDVR0TBAIwADATBgNVHSUEDDAKBggrBgEF
        BQcDATAdBgNVHQ4EFgQU/n0hqnXVHdTaEy2Kxr4WQYFCrzYwHwYDVR0jBBgwFoAU
        HaAh17wzd8NT5Pb2EnO1Rjr4VtcwCgYIKoZIzj0EAwIDRwAwRAIgWbI3lTYDl8Dk
        01Gu8uY5ruRkLOPInEMn1Tz+iGmzb8QCIAaYT0UjTCbpv9ycDBXidOLhUNA9slbv
        j0e7r8DCWVhh
        -----END CERTIFICATE-----
        """

    /// No secret: it is the key of nothing else.
    static let serverKey = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgKOB2egETl4uLI2GK
        7Yiqb+mPt/29qAXLGS1Mwio/tbShRANCAAS5Wi5sgXG2e4MuVxQlaD7B4E75kjJ4
        zGGJTnAYmU6aENwd3sjpsiH/DidqYpHehg1CMe5+KwEJhkwd3LkUPQB7
        -----END PRIVATE KEY-----
        """
}
