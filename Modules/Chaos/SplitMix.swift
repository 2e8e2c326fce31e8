/// The generator [SplitMix64](https://doi.org/10.1145/2714064.2660195): small, fast, and the same on all systems.
struct SplitMix: RandomNumberGenerator {
  private var state: UInt64

  /// Creates the generator of one of the streams of a seed.
  init(seed: UInt64, stream: UInt64) {
    var seeds = SplitMix(state: seed)
    // Two steps, so that the streams of neighbouring seeds are unrelated.
    var streams = SplitMix(state: seeds.next() ^ stream)
    self.state = streams.next()
  }

  private init(state: UInt64) {
    self.state = state
  }

  mutating func next() -> UInt64 {
    self.state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = self.state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  /// Draws a number from 0 up to, but not including, 1.
  mutating func share() -> Double {
    // Not `Double.random(in:using:)`, whose use of the generator may change with the standard library.
    Double(self.next() >> 11) / 9_007_199_254_740_992
  }

  /// Draws a duration in a range, to the nanosecond.
  mutating func duration(in range: ClosedRange<Duration>) -> Duration {
    let width = (range.upperBound - range.lowerBound).attoseconds / 1_000_000_000
    let draw = Int128(self.next()) * min(width, Int128(Int64.max)) / Int128(UInt64.max)
    return range.lowerBound + Duration(attoseconds: draw * 1_000_000_000)
  }
}
