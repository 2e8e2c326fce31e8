// swift-tools-version: 6.3

import PackageDescription

// A package of its own: it switches traits on, and needs the system's SQLite, which the other examples do not.
let package = Package(
  name: "offline-notes",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(
      name: "swift-operation",
      path: "../..",
      traits: [.defaults, "SwiftOperationSQLite", "SwiftOperationCrypto"]
    ),
    .package(url: "https://github.com/apple/swift-crypto", "3.12.3"..<"5.0.0"),
    .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
  ],
  targets: [
    .executableTarget(
      name: "offline-notes",
      dependencies: [
        .product(name: "Operation", package: "swift-operation"),
        .product(name: "OperationHTTP", package: "swift-operation"),
        .product(name: "OperationPersistence", package: "swift-operation"),
        .product(name: "OperationSQLite", package: "swift-operation"),
        .product(name: "OperationCrypto", package: "swift-operation"),
        .product(name: "Crypto", package: "swift-crypto"),
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
