// swift-tools-version: 6.3

import PackageDescription

// A package of its own: it switches traits on, and needs libpq and a server of each backend, which the other examples do not.
let package = Package(
  name: "fleet",
  platforms: [.macOS(.v26)],
  dependencies: [
    .package(
      name: "swift-operation",
      path: "../..",
      traits: [.defaults, "SwiftOperationPostgreSQL", "SwiftOperationValkey"]
    )
  ],
  targets: [
    .executableTarget(
      name: "fleet",
      dependencies: [
        .product(name: "Operation", package: "swift-operation"),
        .product(name: "OperationFleet", package: "swift-operation"),
        .product(name: "OperationPostgreSQL", package: "swift-operation"),
        .product(name: "OperationValkey", package: "swift-operation"),
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
