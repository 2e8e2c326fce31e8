internal import ArgumentParser

/// A defect that the checks have to find, which proves that they can fail.
enum Sabotage: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// One of a hundred stores is never released.
  case leak
  /// Finding a store takes longer the more stores there are.
  case growth
  /// A modifier that should do nothing allocates.
  case allocation
}

/// An object that allocates a block of memory.
final class Waste {}
