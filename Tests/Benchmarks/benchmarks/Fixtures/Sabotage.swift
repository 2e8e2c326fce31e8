internal import ArgumentParser

/// Something wrong that the checks have to find: it proves that they can fail.
enum Sabotage: String, ExpressibleByArgument, CaseIterable, Sendable {
  /// One of a hundred stores is kept for good.
  case leak
  /// Finding a store takes longer the more there are.
  case growth
  /// A modifier that should do nothing allocates.
  case allocation
}

/// Takes a block of memory.
final class Waste {}
