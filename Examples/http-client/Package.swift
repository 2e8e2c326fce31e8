// swift-tools-version: 6.3

import PackageDescription

// A package of its own: AsyncHTTPClient takes minutes to build, and the other examples do not need it.
let package = Package(
  name: "http-client",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(name: "swift-operation", path: "../..", traits: ["SwiftOperationAsyncHTTPClient"]),
    // The client has a configuration of its own.
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    .executableTarget(
      name: "http-client",
      dependencies: [
        .product(name: "Operation", package: "swift-operation"),
        .product(name: "OperationHTTP", package: "swift-operation"),
        .product(name: "OperationAsyncHTTPClient", package: "swift-operation"),
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "FlyingFox", package: "FlyingFox"),
        .product(name: "FlyingSocks", package: "FlyingFox"),
      ],
      path: "Sources",
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),  // SE-0335
        .enableUpcomingFeature("InternalImportsByDefault"),  // SE-0409
        .enableUpcomingFeature("MemberImportVisibility"),  // SE-0444
      ]
    )
  ],
  swiftLanguageModes: [.v6]
)
