// swift-tools-version: 6.3

import PackageDescription

// A package of its own, because examples of two packages draw with it.
let package = Package(
  name: "Charts",
  products: [.library(name: "Charts", targets: ["Charts"])],
  targets: [
    .target(
      name: "Charts",
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
