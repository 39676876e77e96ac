import Testing

@testable import TenonTPM

@Test func probes() { #expect(probe() == 2048) }
