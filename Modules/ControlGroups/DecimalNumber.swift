#if os(Linux)
  extension UInt64 {
    /// Parses decimal digits; nil if there are none, for any other character, and for a number that is too large.
    package init?(decimal digits: some Sequence<UInt8>) {
      var value: UInt64?
      for digit in digits {
        guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
        let (product, isProductTooLarge) = (value ?? 0).multipliedReportingOverflow(by: 10)
        let (sum, isSumTooLarge) = product.addingReportingOverflow(UInt64(digit - UInt8(ascii: "0")))
        if isProductTooLarge || isSumTooLarge { return nil }
        value = sum
      }
      guard let value else { return nil }
      self = value
    }
  }
#endif
