import { expect, it } from 'vitest';
import { createAddressGuard, isLoopbackAddress, isMetadataAddress, isPrivateAddress } from './private-address.js';

it.each([
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::10.0.0.1',
  '::ffff:10.0.0.1',
  '::ffff:a00:1',
  '::ffff:0:10.0.0.1',
  '64:ff9b::169.254.169.254',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '2001:0:a00:1::',
  '2002:a00:1::',
  'fd00:ec2::254',
  'fe80::1',
  'fec0::1',
  'ff02::1',
])('%s is not a public address', (address) => {
  expect(isPrivateAddress(address)).toBe(true);
});

it.each(['8.8.8.8', '172.32.0.1', '::ffff:8.8.8.8', '64:ff9b::8.8.8.8', '2606:4700::1111', '2a00:1450::1'])(
  '%s is one',
  (address) => {
    expect(isPrivateAddress(address)).toBe(false);
  },
);

it('distinguishes loopback addresses from addresses of the network', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'].map(isLoopbackAddress)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect(['10.0.0.1', '0.0.0.0', 'fe80::1', '8.8.8.8'].map(isLoopbackAddress)).toEqual([false, false, false, false]);
});

it('recognizes the addresses of metadata services', () => {
  const found = [
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    'fe80::1',
    'fd00:ec2::254',
    '100.100.100.200',
  ];
  expect(found.filter((address) => !isMetadataAddress(address))).toEqual([]);
  expect(['10.0.0.1', '127.0.0.1', '::1', 'fd00::1', '8.8.8.8'].filter(isMetadataAddress)).toEqual([]);
});

it('checks every address of a name, also for a connection', async () => {
  const { resolve, lookup } = createAddressGuard(
    (_hostname, address) => {
      if (isPrivateAddress(address)) throw new Error(`private: ${address}`);
    },
    async (hostname) =>
      (hostname === 'mixed.example' ? ['203.0.113.7', '10.0.0.1'] : ['203.0.113.7']).map((address) => ({
        address,
        family: 4,
      })),
  );
  expect(await resolve('public.example')).toEqual([{ address: '203.0.113.7', family: 4 }]);
  await expect(resolve('mixed.example')).rejects.toThrow('private: 10.0.0.1');
  const connect = (hostname: string): Promise<unknown> =>
    new Promise((done) => lookup(hostname, {}, (error, address) => done(error ?? address)));
  expect(await connect('public.example')).toBe('203.0.113.7');
  expect(await connect('mixed.example')).toMatchObject({ message: 'private: 10.0.0.1' });
});
