// swift-tools-version: 6.3

import PackageDescription

// A package of its own, because examples of several packages send requests with it.
let package = Package(
  name: "Requests",
  platforms: [.macOS(.v26)],
  products: [.library(name: "Requests", targets: ["Requests"])],
  targets: [
    .target(
      name: "Requests",
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
