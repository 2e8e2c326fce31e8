#if os(Linux)
  internal import OperationControlGroups

  #if canImport(Glibc)
    internal import Glibc
  #elseif canImport(Musl)
    internal import Musl
  #endif

  /// What the process does with a signal.
  enum SignalDisposition: Hashable, Sendable {
    /// What the system does by itself.
    case standard
    case ignored
    /// It hands the signal to event sources, of which there may be many.
    case dispatched
    /// The program has a handler of its own, which would be lost.
    case handled

    init(of signal: ProcessSignal) {
      let handler = Self.handlerAddress(of: signal)
      // The constants are functions that cannot be called, and their addresses these numbers.
      switch handler {
      case 0: self = .standard
      case 1: self = .ignored
      default: self = Self.isDispatch(handler) ? .dispatched : .handled
      }
    }

    private static func handlerAddress(of signal: ProcessSignal) -> UInt {
      var action = sigaction()
      guard sigaction(signal.rawValue, nil, &action) == 0 else { return 0 }
      // The handler is the first field of the structure, whichever of its two types it has.
      return withUnsafeBytes(of: action) { $0.loadUnaligned(as: UInt.self) }
    }

    /// Whether a function belongs to the library of the event sources, by what is mapped where.
    private static func isDispatch(_ address: UInt) -> Bool {
      guard let maps = FileText.read("/proc/self/maps") else { return false }
      for line in maps.split(separator: "\n") where line.contains("libdispatch") {
        let ends = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
        if ends.count == 2, ends[0] <= address, address < ends[1] { return true }
      }
      return false
    }
  }
#endif
